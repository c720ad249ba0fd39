{-# LANGUAGE OverloadedStrings #-}

-- | gRPC on WAI: messages with a length before each, and the status in HTTP/2's trailers.
module Grpc
  ( Failure (..),
    Method,
    Replies (..),
    Requests,
    grpc,
    malformed,
    message,
    receive,
    receiveOne,
  )
where

import Control.Exception (Exception, catch, throwIO, try)
import Control.Monad (unless)
import Data.Bits (shiftL, (.|.))
import Data.ByteString (ByteString)
import qualified Data.ByteString as B
import Data.ByteString.Builder (Builder, word32BE, word8)
import qualified Data.ByteString.Char8 as C
import Data.IORef (IORef, newIORef, readIORef, writeIORef)
import Data.Maybe (fromMaybe)
import Network.HTTP.Types (ResponseHeaders, hContentType, ok200, unsupportedMediaType415)
import Network.HTTP2.Server (NextTrailersMaker (..))
import Network.Wai
import Network.Wai.Handler.Warp

-- | How a call ends that does not end well: gRPC's code, and why.
data Failure = Failure Int ByteString
  deriving (Show)

instance Exception Failure

-- | Makes a call's replies of its requests, or throws a 'Failure'.
type Method = Requests -> IO Replies

data Replies
  = -- | Made as there is room to send them.
    Replies Builder
  | -- | Sent with the given function, while requests still come.
    Stream ((Builder -> IO ()) -> IO ())

-- | A call's requests: the next piece of the body, and what is left of the ones before.
data Requests = Requests (IO ByteString) (IORef ByteString)

-- | Serves the methods with these paths.
grpc :: [(ByteString, Method)] -> Application
grpc methods request respond
  | not (isGrpc request) = respond (responseBuilder unsupportedMediaType415 [] mempty)
  | otherwise = do
      failure <- newIORef Nothing
      requests <- Requests (getRequestBodyChunk request) <$> newIORef B.empty
      modifyHTTP2Data request $ \old ->
        Just (fromMaybe defaultHTTP2Data old) {http2dataTrailers = trailers failure}
      let end = writeIORef failure . Just
      outcome <- try (fromMaybe unknown (lookup (rawPathInfo request) methods) requests)
      case outcome of
        Left why -> end why >> respond (responseBuilder ok200 headers mempty)
        Right (Replies replies) -> respond (responseBuilder ok200 headers replies)
        Right (Stream talk) -> respond . responseStream ok200 headers $ \write flush ->
          talk (\replies -> write replies >> flush) `catch` end

unknown :: Method
unknown _ = throwIO (Failure 12 "no such method")

headers :: ResponseHeaders
headers = [(hContentType, "application/grpc")]

-- | Application/grpc, or that with "+proto" or a parameter; not application/grpc-web.
isGrpc :: Request -> Bool
isGrpc request = case B.stripPrefix "application/grpc" =<< lookup hContentType (requestHeaders request) of
  Nothing -> False
  Just rest -> B.null rest || C.head rest `elem` ['+', ';']

-- | Is asked once more when the body has ended: then it is known how the call ended.
trailers :: IORef (Maybe Failure) -> Maybe ByteString -> IO NextTrailersMaker
trailers failure (Just _) = pure (NextTrailersMaker (trailers failure))
trailers failure Nothing = Trailers . maybe [("grpc-status", "0")] status <$> readIORef failure
  where
    status (Failure code why) = [("grpc-status", C.pack (show code)), ("grpc-message", why)]

-- | A message of so many bytes.
message :: (Int, Builder) -> Builder
message (size, body) = word8 0 <> word32BE (fromIntegral size) <> body

-- | The only request of a call.
receiveOne :: Requests -> IO ByteString
receiveOne requests = go []
  where
    go before = do
      new <- receive requests
      case (before, new) of
        ([only], []) -> pure only
        ([], []) -> throwIO notOne
        _ | length before + length new > 1 -> throwIO notOne
        _ -> go (before ++ new)
    notOne = Failure 12 "not one request"

-- | All requests that have come, at least one. There are none only at the end.
receive :: Requests -> IO [ByteString]
receive (Requests nextPiece left) = readIORef left >>= go
  where
    go bytes = do
      (whole, rest) <- either throwIO pure (split bytes)
      if null whole
        then do
          piece <- nextPiece
          if B.null piece
            then [] <$ unless (B.null rest) (throwIO (Failure 13 "a request is cut short"))
            else go (rest <> piece)
        else whole <$ writeIORef left rest

-- | Whole messages, and the beginning of another.
split :: ByteString -> Either Failure ([ByteString], ByteString)
split bytes
  | B.length bytes < 5 = Right ([], bytes)
  | B.head bytes /= 0 = Left (Failure 12 "compression is not supported")
  | size > mostBytes = Left (Failure 8 "a request is too long")
  | B.length body < size = Right ([], bytes)
  | otherwise = do
      (others, rest) <- split (B.drop size body)
      Right (B.take size body : others, rest)
  where
    (prefix, body) = B.splitAt 5 bytes
    size = B.foldl' (\n byte -> n `shiftL` 8 .|. fromIntegral byte) 0 (B.tail prefix)

-- | As in most of gRPC's libraries.
mostBytes :: Int
mostBytes = 4194304

-- | What a method throws that cannot parse a request.
malformed :: Failure
malformed = Failure 13 "cannot parse the request"
